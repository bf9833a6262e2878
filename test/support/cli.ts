import { Command } from 'commander';

/** Runs a group of commands as operators type them, in this process. */
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
    process.exitCode = undefined; // another spec file of the same worker may have left its own
    try {
      await commands().parseAsync(args, { from: 'user' });
      return { stdout, exitCode: process.exitCode as number | undefined };
    } finally {
      process.exitCode = undefined;
      written.mockRestore();
    }
  };
}
