import { Logger } from '@nestjs/common';
import { runCommand } from './program';
import { COMMAND_LOG } from './terminal';

process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return; // the reader has closed the pipe, such as head
  process.exitCode = 1;
  process.stderr.write(`the output cannot be written (${code})\n`);
});
process.stderr.on('error', () => undefined);
Logger.overrideLogger(COMMAND_LOG);
void runCommand(process.argv.slice(2));
