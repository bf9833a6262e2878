/** Runs schedules of the model, and the property tests with more examples. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';

const string = { type: 'string' };
const options = {
  schedules: string,
  seed: string,
  path: string,
  factor: string,
  disaster: string,
  help: { type: 'boolean' },
};
const { schedules = '2000', seed, path, factor = '0', disaster, help } = parseArgs({ options }).values;

if (help) {
  console.log(`Usage: npm run test:model -- [options]

Runs schedules of faults, kills, suspensions, wrong clocks, lost commits, retries and approvals against two
proxies. Checks the promises about money after each.

  --schedules <count>  number of schedules (default: 2000)
  --seed <number>      seed of the schedules, to repeat a run
  --path <path>        path of a failed wave, to repeat it alone
  --disaster <kind>    disaster of all waves: none, suspension or loss (default: any)
  --factor <number>    also run the property tests, with this multiple of their examples

Examples:
  npm run test:model -- --schedules 200
  npm run test:model -- --seed 20261121 --path 0   # repeats a failed wave
  npm run test:model -- --schedules 400 --disaster loss
  npm run test:long                                # 2,000 schedules, then 20 times the examples`);
  process.exit();
}

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');

function run(args, env) {
  const { status } = spawnSync(process.execPath, [jest, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  if (status !== 0) process.exitCode = 1;
}

run(['test/model/model.spec.ts'], {
  MODEL_SCHEDULES: schedules,
  ...(seed && { MODEL_SEED: seed }),
  ...(path && { MODEL_PATH: path }),
  ...(disaster && { MODEL_DISASTER: disaster }),
});

if (Number(factor) > 0) {
  const properties = ['src', 'test']
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((file) => `${folder}/${file}`))
    .filter(
      (file) => file.endsWith('.spec.ts') && readFileSync(file, 'utf8').includes('support/examples/runs'),
    );
  if (properties.length === 0) throw new Error('no property tests found'); // Jest would run every file
  run(['--testTimeout=3600000', ...properties], { TEST_RUNS_FACTOR: factor });
}
