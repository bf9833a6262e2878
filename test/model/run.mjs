/**
 * npm run test:model -- --schedules 2000 --seed 1 runs any number of schedules. --path runs one failed wave again. npm
 * run test:long does the same, and then runs the property tests with `--factor` times their examples.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';

const string = { type: 'string' };
const options = { schedules: string, seed: string, path: string, factor: string };
const { schedules = '2000', seed, path, factor = '0' } = parseArgs({ options }).values;

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');

function run(args, env) {
  const { status } = spawnSync(process.execPath, [jest, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  if (status !== 0) process.exitCode = 1;
}

run(['test/model.spec.ts'], {
  MODEL_SCHEDULES: schedules,
  ...(seed && { MODEL_SEED: seed }),
  ...(path && { MODEL_PATH: path }),
});

if (Number(factor) > 0) {
  const properties = ['src', 'test']
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((file) => `${folder}/${file}`))
    .filter((file) => file.endsWith('.spec.ts') && readFileSync(file, 'utf8').includes('support/runs'));
  run(['--testTimeout=3600000', ...properties], { TEST_RUNS_FACTOR: factor });
}
