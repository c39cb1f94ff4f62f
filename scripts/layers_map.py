"""layers_map: the folders of lib/ as a picture and as a table, from the rows of lib/LAYERS. Used by make-reference."""
import html
import re

ROW = re.compile(r"(\d+) (\w+) ->((?: \w+)*)(?:  # (.+))?")
WIDTH, BOX, HEIGHT, FLOOR, LEFT = 1000, 84, 28, 70, 70


def read(path):
    """[(floor, folder, folders that it builds on, what it holds)], the lowest floor first."""
    rows = map(ROW.fullmatch, path.read_text().splitlines())
    return [(int(row[1]), row[2], row[3].split(), row[4] or "") for row in rows if row]


def places(rows):
    """{folder: (x of its middle, y of its top)}: each floor is a line; its folders stand near the middle of what they build on."""
    floors = sorted({floor for floor, *_ in rows}, reverse=True)
    middles = {}
    for floor in reversed(floors):
        here = [(folder, below) for at, folder, below, _ in rows if at == floor]
        wanted = {folder: sum(middles[b][0] for b in below) / len(below) if below else WIDTH / 2 for folder, below in here}
        step = (WIDTH - LEFT) / len(here)
        for index, folder in enumerate(sorted(wanted, key=wanted.get)):
            middles[folder] = (LEFT + step * (index + 0.5), 10 + FLOOR * floors.index(floor))
    return middles


def direct(rows):
    """{folder: those that it builds on, but for what these build on themselves}."""
    reached, found = {}, {}
    for _, folder, below, _ in rows:
        reached[folder] = set(below).union(*(reached[b] for b in below))
        found[folder] = [b for b in below if not any(b in reached[other] for other in below)]
    return found


def picture(rows):
    at, edges = places(rows), direct(rows)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {10 + FLOOR * len({row[0] for row in rows})}" '
           'font-family="sans-serif" font-size="13">',
           '<title>The folders of lib/, floor by floor, and what each builds on</title>',
           '<rect width="100%" height="100%" fill="#fff"/>']
    for floor in sorted({row[0] for row in rows}):
        y = next(at[folder][1] for at_floor, folder, *_ in rows if at_floor == floor)
        out.append(f'<text x="8" y="{y + 19}" fill="#667">{"floor " if floor == 1 else ""}{floor}</text>')
    for folder, below in edges.items():
        x, y = at[folder]
        for other in below:
            to, top = at[other]
            half = (top - y - HEIGHT) / 2
            out.append(f'<path d="M{x:.0f} {y + HEIGHT}C{x:.0f} {y + HEIGHT + half:.0f} {to:.0f} {top - half:.0f} {to:.0f} {top}" fill="none" stroke="#99a" stroke-width="1.2"/>')
    for _, folder, _, text in rows:
        x, y = at[folder]
        out.append(f'<g><title>{html.escape(text)}</title><rect x="{x - BOX / 2:.0f}" y="{y}" width="{BOX}" height="{HEIGHT}" rx="5" fill="#eef3fb" stroke="#46b"/>'
                   f'<text x="{x:.0f}" y="{y + 19}" text-anchor="middle" fill="#123">{folder}</text></g>')
    return "\n".join([*out, "</svg>"]) + "\n"
