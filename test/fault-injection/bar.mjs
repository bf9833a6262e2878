/** Shows the progress of a run: a bar on a terminal, and occasional lines elsewhere. Writes to stderr. */
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';

const WIDTH = 20;
const DRAW_EVERY_MS = 250;
const LINE_EVERY_MS = 15_000;

/** @param parts the scenarios, with their expected durations in seconds. */
export function startBar(parts) {
  const { isTTY } = process.stderr;
  let [at, text, begun, drawn] = [-1, '', 0, -Infinity];
  const secondsOf = (some) => some.reduce((sum, { seconds }) => sum + seconds, 0);
  const line = () => {
    const { name, seconds } = parts[at];
    const done = secondsOf(parts.slice(0, at)) + Math.min(seconds, (performance.now() - begun) / 1_000);
    const all = secondsOf(parts);
    const filled = Math.round((done / all) * WIDTH);
    const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled);
    return `${bar} ${name} (${at + 1} of ${parts.length}): ${text}, about ${minutes(all - done)} left`;
  };
  const draw = () => {
    const now = performance.now();
    if (at < 0 || now - drawn < (isTTY ? DRAW_EVERY_MS : LINE_EVERY_MS)) return;
    drawn = now;
    process.stderr.write(isTTY ? `\r\x1b[K${line()}` : `${line()}\n`);
  };
  const timer = setInterval(draw, DRAW_EVERY_MS);
  const clear = () => isTTY && process.stderr.write('\r\x1b[K');
  return {
    begin: (name) => {
      at = parts.findIndex((part) => part.name === name);
      begun = performance.now();
      text = 'starting';
    },
    say: (what) => (text = what),
    /** Prints a result to stdout. */
    print: (what) => {
      clear();
      process.stdout.write(`${what}\n`);
    },
    end: () => {
      clearInterval(timer);
      clear();
    },
  };
}

function minutes(seconds) {
  return seconds < 60 ? 'a minute' : `${Math.ceil(seconds / 60)} minutes`;
}
