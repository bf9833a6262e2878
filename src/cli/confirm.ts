import { createInterface } from 'node:readline/promises';
import { ClientError } from '../access/clients/client-error';

/** Asks on a terminal whether to go on. @throws ClientError if not, or if nobody is there to be asked. */
export async function confirm(question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY)
    throw new ClientError('nobody is there to confirm it; add --yes to go on without being asked');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const said = await terminal.question(`${question} Type yes to go on: `);
    if (said.trim() !== 'yes') throw new ClientError('nothing was changed');
  } finally {
    terminal.close();
  }
}
