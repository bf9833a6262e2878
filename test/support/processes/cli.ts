import { Command } from 'commander';
import { runCommand } from '../../../src/cli/program';
import { createTestDatabase, TestDatabase } from '../databases/test-database';
import { Exit } from './process';

/** Creates a database for the commands of {@link cliOf}, without dual control. */
export async function createCommandDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  process.env.DATABASE_URL = database.url;
  process.env.DATABASE_OWNER_URL = database.ownerUrl;
  process.env.DUAL_CONTROL = 'false';
  return database;
}

/** Runs a group of operators' commands in this process. */
export function cliOf(commands: () => Command) {
  return async (...args: string[]): Promise<{ stdout: string; exitCode: number | undefined }> => {
    let stdout = '';
    const written = jest
      .spyOn(process.stdout, 'write')
      .mockImplementation((text: string | Uint8Array, ...more: unknown[]) => {
        stdout += typeof text === 'string' ? text : Buffer.from(text).toString();
        const done = more.at(-1);
        if (typeof done === 'function') (done as () => void)();
        return true;
      });
    process.exitCode = undefined; // another spec file of the same worker may have set it
    try {
      await commands().parseAsync(args, { from: 'user' });
      return { stdout, exitCode: process.exitCode as number | undefined };
    } finally {
      process.exitCode = undefined;
      written.mockRestore();
    }
  };
}

/**
 * Runs a command line in this process, which is faster than a separate one: the same program, with this
 * environment, in this folder. One command runs at a time.
 */
export async function runCli(args: string[], env: Record<string, string>, folder: string): Promise<Exit> {
  const before = { env: process.env, folder: process.cwd() };
  const said = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    jest
      .spyOn(process[stream], 'write')
      .mockImplementation((text: string | Uint8Array, ...more: unknown[]) => {
        said[stream] += typeof text === 'string' ? text : Buffer.from(text).toString();
        const done = more.at(-1);
        if (typeof done === 'function') (done as () => void)();
        return true;
      }),
  );
  process.env = { PATH: before.env.PATH, ...env };
  process.chdir(folder);
  process.exitCode = undefined; // another spec file of the same worker may have set it
  try {
    await runCommand(args);
    return { code: Number(process.exitCode ?? 0), ...said };
  } finally {
    process.exitCode = undefined;
    process.chdir(before.folder);
    process.env = before.env;
    for (const spy of spies) spy.mockRestore();
  }
}
