"""completion: the shells' completion scripts, made from the tools' --help and their lists; part of from_help.py."""
import re

OPTION = re.compile(r"^ {1,8}(-\S.*?)(?: {2,}(\S.*))?$")
# Options whose help lists their values: "none, stretch, crop or crop:SHORTSIDE".
IN_A_ROW = {"--preprocess", "--resize", "--filter", "--resize-compat", "--channels", "--layout", "--sandbox", "--schedule", "--augment"}
# Options whose help names them less regularly: each value is offered where the help has it as a word.
AS_WORDS = {"--precision": ("bf16", "f16", "float16", "bfloat16", "int8"), "--arithmetic": ("onnx", "tflite", "tflite-micro"), "--source-arithmetic": ("onnx", "tflite", "tflite-micro"),
            "--grey16": ("clip", "high-byte"), "--isa": ("x86-64", "avx2", "avx512"), "--processor": ("generic", "zen4", "zen5", "gpu"),
            "--target": ("x86-64", "aarch64", "avx2", "avx512", "avx512-bf16", "aarch64-neon", "aarch64-dotprod", "aarch64-i8mm")}
# Options whose values a tool lists: tool, its option, column, what may stand in front of a value.
LISTED = {"--pass": ("dnn-compile", "--list-passes", 1, "+-"), "--require": ("dnn-eval", "--list-metrics", 0, ""),
          "--allow": ("dnn-eval", "--list-metrics", 0, ""), "--types": ("dnn-report", "--list-types", 0, ""),
          "--inject": ("dnn-convert", "--list-faults", 0, ""), "--architecture": ("dnn-convert", "--list-architectures", 0, "")}
DEVICES = {"--device", "--source-device"}  # this machine's, asked for when they are wanted
NAME = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?::[A-Z0-9][A-Z0-9]*)?"
NAMES = re.compile(rf"(?<![\w:-]){NAME}(?:, {NAME})*(?:,? or {NAME}|(?:, {NAME}))(?![\w-])")


def entries(text):
    """[(names and values as the help has them, its whole sentence)] of the options of a help text."""
    found = []
    for line in text.splitlines():
        option = OPTION.match(line)
        if option:
            found.append([option[1], option[2] or ""])
        elif found and re.match(r" {9,}\S", line):
            found[-1][1] += " " + line.strip()
        elif not line.startswith(" "):
            found.append(["", ""])  # whatever follows is no option's
    return [(names, " ".join(sentence.split())) for names, sentence in found if names]


def options(text):
    """[(option, takes a value)] of a help text, long names before short."""
    found = {}
    for names, _ in entries(text):
        for name, value in re.findall(r"(?<![\w-])(--?\w[\w-]*)([= \[]+[A-Z<{][^, ]*)?", names):
            found[name] = bool(value) or found.get(name, False)
    return sorted(found.items(), key=lambda item: (not item[0].startswith("--"), item[0]))


def names_of_tools(helps):
    """As `dnn-tools NAME` takes them."""
    return " ".join(name.removeprefix("dnn-") for name, _ in helps if name != "dnn-tools")


def long_names(names):
    return re.findall(r"--[\w-]+", names)


def values_in(names, sentence):
    """The values that the help of one option names; a parameter in capitals is left to the person: "crop:"."""
    value = re.search(r"[ =](\S+)$", names)
    if not value:
        return []
    if re.fullmatch(r"\d\.\.\d", value[1]):
        return [str(n) for n in range(int(value[1][0]), int(value[1][3]) + 1)]
    if "|" in value[1]:
        return [word for word in value[1].split("|") if word and not word.isupper()]
    for option in long_names(names):
        if option in AS_WORDS:
            return [word for word in AS_WORDS[option] if re.search(rf"(?<![\w-]){word}(?![\w-])", sentence)]
        if option in IN_A_ROW:
            words = [word for span in NAMES.findall(sentence.split("(default")[0]) for word in re.findall(NAME, span) if word != "or"]
            return list(dict.fromkeys(re.sub(r":[A-Z]+$", ":", word) for word in words))
    return []


def values_of(helps):
    """{(tool, option): values}. Where one tool's help leaves out what another's says of the same option, the other's hold."""
    values, elsewhere = {}, {}
    for tool, text in helps:
        for names, sentence in entries(text):
            found = values_in(names, sentence)
            for option in re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", names):
                values[tool, option] = found
                if found and option in IN_A_ROW:
                    elsewhere.setdefault(option, found)
    return {key: found or elsewhere.get(key[1], []) for key, found in values.items()}


def lists_of(helps, programs, run):
    """{option: values} of what the tools list; `run(program, option)` gives what one prints."""
    lists = {}
    for option, (tool, listing, column, signs) in LISTED.items():
        if tool in programs and listing in dict(helps)[tool]:
            words = [line.split("\t")[column].split("[")[0] for line in run(programs[tool], listing).splitlines()]
            lists[option] = list(dict.fromkeys(sign + word for sign in signs or [""] for word in words))
    return lists


def endings_of(helps, programs, run):
    """The file name extensions of the formats that dnn-convert writes."""
    if "--list-formats" not in dict(helps).get("dnn-convert", ""):
        return []
    rows = [line.split("\t") for line in run(programs["dnn-convert"], "--list-formats").splitlines()]
    return [word for row in rows if row[3] == "write" for word in row[1].split() if word.startswith(".")]


BASH = r"""# Completion of the dnn-tools' options, their values and files for bash; made from their --help.
# Asked for once a shell: what dnn-infer lists takes half a second.
_dnn_tools_devices() {
  [[ ${_dnn_tools_devices_here-} ]] || _dnn_tools_devices_here=$(dnn-infer --list-devices 2>/dev/null | cut -f 1)
  [[ $_dnn_tools_devices_here ]] || _dnn_tools_devices_here='cpu reference'  # dnn-infer is not in PATH
  echo "$_dnn_tools_devices_here"
}
_dnn_tools() {
  local line=${COMP_LINE:0:COMP_POINT} tool=${COMP_WORDS[0]##*/} options='' values='' endings='' given before word whole
  # Readline divides words at '=' and ':' too; here they are divided at blanks.
  read -ra given <<<"$line"
  if [[ $line == *[[:space:]] ]]; then given+=(''); fi
  whole=${given[-1]} before=${given[-2]-} COMPREPLY=()
  if [[ $tool == dnn-tools && ${#given[@]} -gt 2 ]]; then tool=dnn-${given[1]#dnn-}; fi
  word=${whole#[\'\"]}
  if [[ $word == --*=* ]]; then before=${word%%=*} word=${word#*=} word=${word#[\'\"]}; fi
  case $tool in
@OPTIONS@
  esac
  case "$tool $before" in
@VALUES@
  esac
  if [[ $endings && $word == *[!/] ]]; then
    local ending stem=$word
    if [[ ${word##*/} == ?*.* ]]; then stem=${word%.*}; fi
    for ending in $endings; do values+=" $stem$ending"; done
  fi
  if [[ $values ]]; then
    # One of a list with commas; and no more than readline takes the word to be.
    local head=${word%"${word##*,}"} divided=${whole%"${whole##*[:=]}"} front=${whole%"$word"} value
    compopt +o filenames 2>/dev/null
    for value in $(compgen -W "$values" -- "${word#"$head"}"); do
      value=${front%[\'\"]}$head$value
      COMPREPLY+=("${value#"$divided"}")
    done
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *: ]]; then compopt -o nospace 2>/dev/null; fi
    if [[ -z $endings ]]; then return; fi
  fi
  if [[ $endings ]]; then
    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$word")
  elif [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
  elif [[ $tool == dnn-tools ]]; then
    mapfile -t COMPREPLY < <(compgen -W '@TOOLS@' -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _dnn_tools @COMMANDS@
"""


ZSH = r"""#compdef @COMMANDS@
# Completion of the dnn-tools' options, their values and files for zsh; made from their --help.
# Asked for once a shell: what dnn-infer lists takes half a second.
_dnn_tools_devices() {
  (( $+_dnn_tools_devices_here )) || typeset -ga _dnn_tools_devices_here=(${${(f)"$(dnn-infer --list-devices 2>/dev/null)"}%%$'\t'*})
  (( $#_dnn_tools_devices_here )) || _dnn_tools_devices_here=(cpu reference)  # dnn-infer is not in PATH
}
local -a options values endings
local tool=${words[1]:t} before=${words[CURRENT-1]}
if [[ $tool == dnn-tools && $CURRENT -gt 2 ]]; then tool=dnn-${words[2]#dnn-}; fi
if [[ $PREFIX == --*=* ]]; then before=${PREFIX%%=*}; compset -P '*='; fi
case $tool in
@OPTIONS@
esac
case "$tool $before" in
@VALUES@
esac
if (( $#endings )); then
  local stem=${PREFIX:r}
  if [[ -n ${PREFIX:t} ]]; then compadd -- $stem$^endings; fi
  _files
elif (( $#values )); then
  compset -P '*,'  # one of a list
  compadd -S '' -- ${(M)values:#*:}
  compadd -- ${values:#*:}
elif [[ $PREFIX == -* ]]; then
  compadd -- $options
elif [[ $tool == dnn-tools ]]; then
  compadd @TOOLS@
else
  _files
fi
"""


def rows_of(helps, lists, endings, devices, row):
    """The lines of a shell's case over "TOOL OPTION"; `devices` asks for this machine's, `row` assigns words to a variable."""
    rows = []
    for (tool, option), found in values_of(helps).items():
        found = lists.get(option, found)
        if option in DEVICES:
            rows.append(f"    '{tool} {option}') {devices} ;;")
        elif found:
            rows.append(f"    '{tool} {option}') {row('values', found)} ;;")
    if endings:
        rows += [f"    'dnn-convert {option}') {row('endings', endings)} ;;" for option in ("-o", "--output")]
    return "\n".join(rows) or "    '') ;;"


def filled(template, helps, values, row):
    text = template.replace("@OPTIONS@", "\n".join(f"    {name}) {row('options', [option for option, _ in options(text)])} ;;" for name, text in helps))
    return text.replace("@VALUES@", values).replace("@TOOLS@", names_of_tools(helps)).replace("@COMMANDS@", " ".join(name for name, _ in helps))


def bash(helps, lists, endings):
    """`lists` and `endings`: of lists_of() and endings_of()."""
    def row(name, words):
        return f"{name}='{' '.join(words)}'"
    return filled(BASH, helps, rows_of(helps, lists, endings, "values=$(_dnn_tools_devices)", row), row)


def zsh(helps, lists, endings):
    """As bash()."""
    def row(name, words):
        return f"{name}=({' '.join(words)})"
    return filled(ZSH, helps, rows_of(helps, lists, endings, "_dnn_tools_devices; values=($_dnn_tools_devices_here)", row), row)
