/** Draws a V8 CPU profile. The width of a frame is the time in it and in the functions it called. */

const WIDTH = 1_600;
const LINE = 17;
/** Widths in pixels: of a character of the font below, and of frames that are too narrow to draw. */
const CHARACTER = 6.6;
const NARROWEST = 0.6;

/** Frames of idle time, or of the engine. */
const NOT_BUSY = new Set(['(idle)', '(program)', '(root)']);

/** @param profile as the inspector's Profiler.stop returns it. */
export function flameGraph(profile, title) {
  const root = mergedTree(profile);
  const frames = [];
  place(root, 0, 0, WIDTH / root.time, frames);
  const height = (Math.max(...frames.map(({ depth }) => depth)) + 2) * LINE;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" ` +
      'font-size="11">',
    `<title>${escaped(title)}</title><rect width="100%" height="100%" fill="#fff"/>`,
    `<text x="6" y="13">${escaped(title)}: ${Math.round(root.time / 1_000)} ms of CPU; point at a frame ` +
      'for its share</text>',
    ...frames.map((frame) => drawn(frame, root.time)),
    '</svg>\n',
  ].join('\n');
}

/** Returns the functions, or files, with the most time, without their callees. */
export function costliest(profile, count) {
  const times = selfTimes(profile);
  const byName = new Map();
  let total = 0;
  for (const { id, callFrame } of profile.nodes) {
    if (NOT_BUSY.has(callFrame.functionName)) continue;
    const time = times.get(id) ?? 0;
    total += time;
    byName.set(labelOf(callFrame), (byName.get(labelOf(callFrame)) ?? 0) + time);
  }
  const sorted = [...byName].sort(([, a], [, b]) => b - a).slice(0, count);
  return sorted.map(([name, time]) => ({ name, share: time / total }));
}

function selfTimes({ samples, timeDeltas }) {
  const times = new Map();
  for (const [place, id] of samples.entries()) times.set(id, (times.get(id) ?? 0) + timeDeltas[place]);
  return times;
}

/** Merges the calls from each place, however often it was reached. */
function mergedTree(profile) {
  const times = selfTimes(profile);
  const byId = new Map(profile.nodes.map((node) => [node.id, node]));
  const merge = (nodes, name) => {
    const groups = new Map();
    for (const child of nodes.flatMap(({ children = [] }) => children.map((id) => byId.get(id)))) {
      if (NOT_BUSY.has(child.callFrame.functionName)) continue;
      const label = labelOf(child.callFrame);
      groups.set(label, [...(groups.get(label) ?? []), child]);
    }
    const children = [...groups].map(([label, group]) => merge(group, label)).sort((a, b) => b.time - a.time);
    const own = nodes.reduce(
      (sum, { id, callFrame }) => sum + (NOT_BUSY.has(callFrame.functionName) ? 0 : (times.get(id) ?? 0)),
      0,
    );
    return { name, children, time: own + children.reduce((sum, { time }) => sum + time, 0) };
  };
  return merge([profile.nodes[0]], 'all');
}

function place({ name, time, children }, x, depth, scale, frames) {
  if (time * scale < NARROWEST) return;
  if (depth > 0) frames.push({ name, time, depth, x, width: time * scale });
  let next = x;
  for (const child of children) {
    place(child, next, depth + 1, scale, frames);
    next += child.time * scale;
  }
}

function drawn({ name, time, depth, x, width }, total) {
  const fits = Math.floor((width - 4) / CHARACTER);
  const text =
    fits < 3
      ? ''
      : `<text x="${(x + 2).toFixed(1)}" y="${depth * LINE + 13}">${escaped(name.slice(0, fits))}</text>`;
  return (
    `<g><title>${escaped(name)}: ${((time / total) * 100).toFixed(1)} %</title><rect x="${x.toFixed(1)}" ` +
    `y="${depth * LINE}" width="${width.toFixed(1)}" height="${LINE - 1}" ` +
    `fill="${colorOf(name)}"/>${text}</g>`
  );
}

/** Returns `function file`, where the file is of the product or a package. */
function labelOf({ functionName, url }) {
  const file = url
    .replace(/^file:\/\//, '')
    .replace(/^.*node_modules\//, '')
    .replace(/^.*\/dist\//, 'dist/');
  return `${functionName || '(anonymous)'} ${file}`.trim();
}

/** Highlights the product's own frames. */
function colorOf(name) {
  if (name.includes(' dist/')) return '#f4a259';
  if (name.includes(' node:')) return '#8cb4d9';
  return name.includes(' ') ? '#cfe3c3' : '#e0e0e0';
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
