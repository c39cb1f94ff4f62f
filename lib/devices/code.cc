// Loading code; see code.h.
#include "devices/code.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "target/architecture.h"

extern "C" void __stack_chk_fail();  // NOLINT: the name that compilers which protect stacks give it

namespace dnn {
namespace {

constexpr uint64_t kMostImage = uint64_t{1} << 28;

struct Import {
  const char* name;
  void* address;
};

template <class F>
void* address_of(F* function) {
  return reinterpret_cast<void*>(function);
}
using OfFloat = float(float);
using OfDouble = double(double);
using OfFloats = float(float, float);
using OfDoubles = double(double, double);

// Functions that printed kernels call, by themselves or because a compiler puts a call for a loop or for a pair of calls.
const std::vector<Import>& imports() {
#define DNN_ONE(name) \
  {#name, address_of(static_cast<OfDouble*>(::name))}, { #name "f", address_of(static_cast <OfFloat*>(::name##f)) }
#define DNN_TWO(name) \
  {#name, address_of(static_cast<OfDoubles*>(::name))}, { #name "f", address_of(static_cast <OfFloats*>(::name##f)) }
  static const std::vector<Import> rows = {
      DNN_ONE(exp),
      DNN_ONE(exp2),
      DNN_ONE(log),
      DNN_ONE(log2),
      DNN_ONE(sqrt),
      DNN_ONE(sin),
      DNN_ONE(cos),
      DNN_ONE(tan),
      DNN_ONE(asin),
      DNN_ONE(acos),
      DNN_ONE(atan),
      DNN_ONE(sinh),
      DNN_ONE(cosh),
      DNN_ONE(tanh),
      DNN_ONE(asinh),
      DNN_ONE(acosh),
      DNN_ONE(atanh),
      DNN_ONE(erf),
      DNN_ONE(floor),
      DNN_ONE(ceil),
      DNN_ONE(trunc),
      DNN_ONE(round),
      DNN_ONE(rint),
      DNN_ONE(nearbyint),
      DNN_ONE(fabs),
      DNN_TWO(pow),
      DNN_TWO(fmod),
      {"sincos", address_of(::sincos)},
      {"sincosf", address_of(::sincosf)},
      {"memcpy", address_of(::memcpy)},
      {"memmove", address_of(::memmove)},
      {"memset", address_of(::memset)},
      {"memcmp", address_of(::memcmp)},
      {"__stack_chk_fail", address_of(::__stack_chk_fail)},
  };
#undef DNN_ONE
#undef DNN_TWO
  return rows;
}

enum class Fix : uint8_t { None, Relative, Symbol, SymbolAndAddend, Unknown };

Fix fix_of(uint32_t type) {
#if defined(__aarch64__)
  switch (type) {
    case R_AARCH64_NONE: return Fix::None;
    case R_AARCH64_RELATIVE: return Fix::Relative;
    case R_AARCH64_GLOB_DAT:
    case R_AARCH64_JUMP_SLOT:
    case R_AARCH64_ABS64: return Fix::SymbolAndAddend;
    default: return Fix::Unknown;
  }
#else
  switch (type) {
    case R_X86_64_NONE: return Fix::None;
    case R_X86_64_RELATIVE: return Fix::Relative;
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT: return Fix::Symbol;
    case R_X86_64_64: return Fix::SymbolAndAddend;
    default: return Fix::Unknown;
  }
#endif
}

uint64_t page_size() { return static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)); }

[[noreturn]] void damaged(const char* what) { fail_malformed("the package's code: ", what); }

}  // namespace

// Throws unless so many bytes from this address on lie in the image.
void LoadedCode::check(uint64_t address, uint64_t size) const {
  if (address > image_size_ || size > image_size_ - address) damaged("an address outside of it");
}

template <class T>
T LoadedCode::read(uint64_t address) const {
  check(address, sizeof(T));
  T value;
  std::memcpy(&value, image_ + address, sizeof value);
  return value;
}

LoadedCode::LoadedCode(std::string_view object) {
  try {
    map_segments(object);
    if (dynamic_.symbols == 0 || dynamic_.names == 0 || dynamic_.hash == 0) damaged("has no table of its functions");
    check(dynamic_.names, dynamic_.names_size);
    relocate(dynamic_.relocations, dynamic_.relocations_size);
    relocate(dynamic_.calls, dynamic_.calls_size);
    protect();
  } catch (...) {
    if (image_ != nullptr) ::munmap(image_, image_size_);
    throw;
  }
}

LoadedCode::~LoadedCode() { ::munmap(image_, image_size_); }

void LoadedCode::map_segments(std::string_view object) {
  Elf64_Ehdr head;
  if (object.size() < sizeof head) damaged("is no ELF file");
  std::memcpy(&head, object.data(), sizeof head);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_ident[EI_DATA] != ELFDATA2LSB || head.e_type != ET_DYN)
    damaged("is no shared object of 64 bits");
  if (head.e_machine != host_architecture().elf_machine)
    fail_unsupported("the package's code is for another architecture than ", host_architecture().name);
  if (head.e_phentsize != sizeof(Elf64_Phdr) || head.e_phoff > object.size() ||
      head.e_phnum > (object.size() - head.e_phoff) / sizeof(Elf64_Phdr))
    damaged("its segments lie outside of it");
  std::vector<Elf64_Phdr> parts(head.e_phnum);
  if (!parts.empty()) std::memcpy(parts.data(), object.data() + head.e_phoff, parts.size() * sizeof parts[0]);
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type == PT_TLS) fail_unsupported("the package's code wants memory of each thread");
    if (part.p_type != PT_LOAD) continue;
    if (part.p_filesz > part.p_memsz || part.p_offset > object.size() ||
        part.p_filesz > object.size() - part.p_offset || part.p_vaddr > kMostImage ||
        part.p_memsz > kMostImage - part.p_vaddr)
      damaged("a segment lies outside of it");
    segments_.push_back({part.p_vaddr, part.p_memsz, part.p_flags});
    image_size_ = std::max<uint64_t>(image_size_, part.p_vaddr + part.p_memsz);
  }
  if (image_size_ == 0) damaged("has no segments");
  image_size_ = (image_size_ + page_size() - 1) / page_size() * page_size();
  void* memory = ::mmap(nullptr, image_size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail_environment("no memory for a package's code: ", std::strerror(errno));
  image_ = static_cast<std::byte*>(memory);
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type == PT_LOAD && part.p_filesz > 0)
      std::memcpy(image_ + part.p_vaddr, object.data() + part.p_offset, part.p_filesz);
  }
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type == PT_DYNAMIC) read_dynamic(part.p_vaddr, part.p_memsz);
  }
}

void LoadedCode::read_dynamic(uint64_t address, uint64_t size) {
  Dynamic& d = dynamic_;
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= size; at += sizeof(Elf64_Dyn)) {
    const auto entry = read<Elf64_Dyn>(address + at);
    const uint64_t value = entry.d_un.d_val;
    switch (entry.d_tag) {
      case DT_NULL: return;
      case DT_SYMTAB: d.symbols = value; break;
      case DT_STRTAB: d.names = value; break;
      case DT_STRSZ: d.names_size = value; break;
      case DT_GNU_HASH: d.hash = value; break;
      case DT_RELA: d.relocations = value; break;
      case DT_RELASZ: d.relocations_size = value; break;
      case DT_JMPREL: d.calls = value; break;
      case DT_PLTRELSZ: d.calls_size = value; break;
      case DT_INIT_ARRAY: d.preparations = value; break;
      case DT_INIT_ARRAYSZ: d.preparations_size = value; break;
      case DT_REL:
      case DT_RELR:
      case DT_TEXTREL: fail_unsupported("the package's code has relocations of a kind that kernels do not need");
      default: break;
    }
  }
}

std::string_view LoadedCode::name_at(uint64_t offset) const {
  if (offset >= dynamic_.names_size) damaged("a name lies outside of it");
  const char* name = reinterpret_cast<const char*>(image_ + dynamic_.names + offset);
  const size_t longest = dynamic_.names_size - offset, size = ::strnlen(name, longest);
  if (size == longest) damaged("a name without an end");
  return {name, size};
}

uint64_t LoadedCode::symbol_address(uint64_t index) const {
  if (index > kMostImage / sizeof(Elf64_Sym)) damaged("an address outside of it");
  check(dynamic_.symbols, 0);
  const auto symbol = read<Elf64_Sym>(dynamic_.symbols + index * sizeof(Elf64_Sym));
  if (symbol.st_shndx != SHN_UNDEF) {
    if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC || ELF64_ST_TYPE(symbol.st_info) == STT_TLS)
      fail_unsupported("the package's code has symbols of a kind that kernels do not need");
    check(symbol.st_value, 0);
    return reinterpret_cast<uint64_t>(image_) + symbol.st_value;
  }
  const std::string_view name = name_at(symbol.st_name);
  for (const Import& import : imports()) {
    if (name == import.name) return reinterpret_cast<uint64_t>(import.address);
  }
  if (ELF64_ST_BIND(symbol.st_info) == STB_WEAK) return 0;
  fail_unsupported("the package's code calls ", std::string(name), ", which kernels may not");
}

void LoadedCode::relocate(uint64_t table, uint64_t size) {
  check(table, size);
  for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= size; at += sizeof(Elf64_Rela)) {
    const auto entry = read<Elf64_Rela>(table + at);
    const auto addend = static_cast<uint64_t>(entry.r_addend);
    uint64_t value = 0;
    switch (fix_of(static_cast<uint32_t>(ELF64_R_TYPE(entry.r_info)))) {
      case Fix::None: continue;
      case Fix::Relative:
        check(addend, 0);
        value = reinterpret_cast<uint64_t>(image_) + addend;
        break;
      case Fix::Symbol: value = symbol_address(ELF64_R_SYM(entry.r_info)); break;
      case Fix::SymbolAndAddend: value = symbol_address(ELF64_R_SYM(entry.r_info)) + addend; break;
      case Fix::Unknown:
        fail_unsupported("the package's code has a relocation of type ", ELF64_R_TYPE(entry.r_info),
                         ", which kernels do not need");
    }
    check(entry.r_offset, sizeof value);
    std::memcpy(image_ + entry.r_offset, &value, sizeof value);
  }
}

// Each segment gets its own rights; all of the image can be read, as its tables are later.
void LoadedCode::protect() {
  const uint64_t page = page_size();
  std::vector<int> rights(image_size_ / page, PROT_READ);
  for (const Segment& segment : segments_) {
    int own = PROT_READ;
    if ((segment.flags & PF_W) != 0) own |= PROT_WRITE;
    if ((segment.flags & PF_X) != 0) own |= PROT_EXEC;
    for (uint64_t p = segment.address / page; p * page < segment.address + segment.size; ++p) rights[p] |= own;
  }
  for (size_t first = 0, next = 0; first < rights.size(); first = next) {
    if ((rights[first] & PROT_WRITE) != 0 && (rights[first] & PROT_EXEC) != 0)
      fail_unsupported("the package's code has memory that is to be writable and executable");
    for (next = first + 1; next < rights.size() && rights[next] == rights[first];) ++next;
    std::byte* const from = image_ + first * page;
    std::byte* const to = image_ + next * page;
    if ((rights[first] & PROT_EXEC) != 0)
      __builtin___clear_cache(reinterpret_cast<char*>(from), reinterpret_cast<char*>(to));
    if (::mprotect(from, to - from, rights[first]) != 0)
      fail_environment("a package's code cannot be made executable here: ", std::strerror(errno));
  }
}

bool LoadedCode::executable(uint64_t address) const {
  return std::any_of(segments_.begin(), segments_.end(), [&](const Segment& segment) {
    return (segment.flags & PF_X) != 0 && address >= segment.address && address - segment.address < segment.size;
  });
}

void LoadedCode::start() const {
  using Preparation = void (*)();
  check(dynamic_.preparations, dynamic_.preparations_size);
  for (uint64_t at = 0; at + sizeof(uint64_t) <= dynamic_.preparations_size; at += sizeof(uint64_t)) {
    const auto address = read<uint64_t>(dynamic_.preparations + at);
    const uint64_t at_image = address - reinterpret_cast<uint64_t>(image_);
    if (!executable(at_image)) damaged("begins where it has no code");
    reinterpret_cast<Preparation>(image_ + at_image)();
  }
}

// By the object's hash table (GNU's), in which a chain of symbols has the same bucket, the last one marked by an odd hash.
void* LoadedCode::function(const std::string& name) const {
  uint32_t hash = 5381;
  for (const char c : name) hash = hash * 33 + static_cast<uint8_t>(c);
  const uint64_t table = dynamic_.hash;
  const auto buckets = read<uint32_t>(table), first = read<uint32_t>(table + 4), blooms = read<uint32_t>(table + 8);
  const uint64_t bucket_table = table + 16 + uint64_t{8} * blooms, chains = bucket_table + uint64_t{4} * buckets;
  if (buckets == 0) damaged("has no functions");
  uint64_t index = read<uint32_t>(bucket_table + uint64_t{4} * (hash % buckets));
  for (; index != 0; ++index) {
    if (index < first) damaged("its table of functions is no table");
    const auto of_symbol = read<uint32_t>(chains + 4 * (index - first));
    const auto symbol = read<Elf64_Sym>(dynamic_.symbols + index * sizeof(Elf64_Sym));
    if ((of_symbol | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF && name_at(symbol.st_name) == name) {
      if (!executable(symbol.st_value)) damaged("a function lies where it has no code");
      return image_ + symbol.st_value;
    }
    if ((of_symbol & 1) != 0) break;
  }
  fail_malformed("the package's code lacks kernel ", name);
}

}  // namespace dnn
