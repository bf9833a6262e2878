/** npm run test:model -- --schedules 2000 --seed 1: as many schedules as wanted; --path runs one wave that failed again. */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';

const string = { type: 'string' };
const {
  schedules = '2000',
  seed,
  path,
} = parseArgs({ options: { schedules: string, seed: string, path: string } }).values;

const jest = createRequire(import.meta.url).resolve('jest/bin/jest');
const { status } = spawnSync(process.execPath, [jest, 'test/model.spec.ts'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    MODEL_SCHEDULES: schedules,
    ...(seed && { MODEL_SEED: seed }),
    ...(path && { MODEL_PATH: path }),
  },
});
process.exitCode = status ?? 1;
