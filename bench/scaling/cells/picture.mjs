/** Draws the refused calls of each scenario over time, by number of cells. Supports dark mode. */

const [WIDTH, ROW, LEFT, RIGHT, TOP] = [720, 96, 150, 16, 56];
const COLORS = ['#d1495b', '#edae49', '#2e86ab', '#66a182', '#8d6a9f'];
const STYLE = `text{font:12px system-ui,sans-serif;fill:#24292f}
.axis{stroke:#8c959f;stroke-width:1}.title{font-weight:600}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.axis{stroke:#6e7681}}`;

/** @param measured of all scenarios. Clients that are placed by load are drawn. */
export function pictureOf(measured) {
  const drawn = measured.filter(({ placement, scenario }) => placement === 'load' && scenario !== 'calm');
  const scenarios = [...new Set(drawn.map(({ scenario }) => scenario))];
  const cells = [...new Set(drawn.map((one) => one.cells))];
  const height = TOP + scenarios.length * ROW + 24;
  const title = 'Refused calls of all clients over time, by the number of cells';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" ` +
      `aria-label="${title}">`,
    `<style>${STYLE}</style>`,
    `<text class="title" x="12" y="20">${title}</text>`,
    ...cells.map((count, place) => legend(count, place)),
    ...scenarios.map((scenario, row) =>
      rowOf(
        drawn.filter((one) => one.scenario === scenario),
        row,
      ),
    ),
    `<text x="${LEFT}" y="${height - 8}">0 min</text>`,
    `<text x="${WIDTH - RIGHT}" y="${height - 8}" ` +
      `text-anchor="end">${(drawn[0].refusedShares.length / 6).toFixed(0)} min</text>`,
    '</svg>\n',
  ].join('\n');
}

function legend(count, place) {
  const x = LEFT + place * 90;
  return (
    `<rect x="${x}" y="32" width="12" height="12" fill="${COLORS[place]}"/><text x="${x + 17}" ` +
    `y="42">${count} cell${count === 1 ? '' : 's'}</text>`
  );
}

function rowOf(all, row) {
  const [top, bottom] = [TOP + row * ROW, TOP + (row + 1) * ROW - 22];
  const lines = all.map(({ refusedShares }, place) => {
    const step = (WIDTH - LEFT - RIGHT) / refusedShares.length;
    const points = refusedShares.flatMap((share, at) => {
      const y = (bottom - share * (bottom - top - 6)).toFixed(1);
      return [`${(LEFT + at * step).toFixed(1)},${y}`, `${(LEFT + (at + 1) * step).toFixed(1)},${y}`];
    });
    return `<polyline fill="none" stroke="${COLORS[place]}" stroke-width="2" points="${points.join(' ')}"/>`;
  });
  return [
    `<text x="12" y="${(top + bottom) / 2 + 4}">${all[0].scenario}</text>`,
    `<text x="${LEFT - 8}" y="${top + 12}" text-anchor="end">100 %</text><text x="${LEFT - 8}" ` +
      `y="${bottom}" text-anchor="end">0</text>`,
    `<line class="axis" x1="${LEFT}" y1="${bottom}" x2="${WIDTH - RIGHT}" y2="${bottom}"/>`,
    ...lines,
  ].join('\n');
}
