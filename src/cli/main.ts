import '../platform/modules/of-the-build'; // first, because it loads the others
import { runCommand } from './program';
import { ownProcess } from './terminal';

process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return; // the reader has closed the pipe, such as head
  process.exitCode = 1;
  process.stderr.write(`the output cannot be written (${code})\n`);
});
process.stderr.on('error', () => undefined);
ownProcess();
void runCommand(process.argv.slice(2));
