import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** A process that ends during a slow write of its first line. */
const PROGRAM = `
  const fs = require('node:fs');
  const { write } = fs;
  fs.write = (...given) => setTimeout(() => write(...given), 300);
  const { LogOutput } = require(process.argv[1]);
  const output = new LogOutput();
  output.write('first\\n');
  setTimeout(() => {
    output.write('last\\n');
    void output.end().then(() => process.exit(0));
  }, 150);
`;

describe('the log output', () => {
  it('has all lines in order when the process ends during writes', () => {
    const module = join(__dirname, '../../dist/platform/logging/log-output.js');
    expect(execFileSync(process.execPath, ['-e', PROGRAM, module], { encoding: 'utf8' })).toBe(
      'first\nlast\n',
    );
  });
});
