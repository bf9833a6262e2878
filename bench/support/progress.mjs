/** Shows the progress of long work on stderr: a bar on a terminal, or occasional lines. */
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';

const WIDTH = 30;
const DRAW_EVERY_MS = 200;
const LINE_EVERY_MS = 15_000;

/**
 * @param what the work, such as 'sealing'.
 * @param total the end of what `add` counts. Without one, only the time is shown.
 */
export function startProgress(what, total) {
  const { isTTY } = process.stderr;
  const begun = performance.now();
  let [count, said] = [0, begun];
  const seconds = () => (performance.now() - begun) / 1_000;
  const say = () => {
    said = performance.now();
    const text =
      total === undefined ? `${what} ${inWords(seconds())}` : bar(what, { count, total, seconds: seconds() });
    process.stderr.write(isTTY ? `\r\x1b[K${text}` : `${text}\n`);
  };
  const sayIfLongSilent = () => {
    if (performance.now() - said >= (isTTY ? DRAW_EVERY_MS : LINE_EVERY_MS)) say();
  };
  const timer = setInterval(sayIfLongSilent, 1_000);
  return {
    add: (more) => {
      count += more;
      sayIfLongSilent();
    },
    /** @returns how long it took, in seconds. */
    end: () => {
      clearInterval(timer);
      const took = seconds();
      const rate = count > 0 ? `, ${whole(count / took)}/s` : '';
      process.stderr.write(`${isTTY ? '\r\x1b[K' : ''}${what}: ${inWords(took)}${rate}\n`);
      return took;
    },
  };
}

function bar(what, { count, total, seconds }) {
  const share = Math.min(1, count / total);
  const filled = Math.round(share * WIDTH);
  const left = count > 0 ? `, ${inWords((seconds / count) * Math.max(0, total - count))} left` : '';
  return (
    `${what} ${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${whole(count)} of ${whole(total)}, ` +
    `${whole(count / seconds)}/s${left}`
  );
}

function inWords(seconds) {
  return seconds < 60
    ? `${seconds.toFixed(1)} s`
    : `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}

function whole(number) {
  return Math.round(number).toLocaleString('en');
}
