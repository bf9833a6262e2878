import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { ClientError } from '../access/clients/client-error';

/** Asks for a confirmation on the terminal. @throws ClientError if it is refused, or if there is no terminal. */
export async function confirm(question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY)
    throw new ClientError(
      'This command needs a confirmation, but there is no terminal. Add --yes to skip the confirmation.',
    );
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const closed = once(terminal, 'close').then(() => ''); // the end of the input, which answers nothing
    const answered = terminal.question(`${question} Type yes to continue: `).catch(() => ''); // Ctrl-C or Ctrl-D
    const said = await Promise.race([answered, closed]);
    if (said.trim() !== 'yes') throw new ClientError('Nothing was changed.');
  } finally {
    terminal.close();
  }
}
