/** npm run test:model -- --schedules 2000 --seed 1: as many schedules as wanted; --path runs one wave that failed again. */
const { spawnSync } = require('node:child_process');
const { parseArgs } = require('node:util');

const text = (byDefault) => ({ type: 'string', default: byDefault });
const { values } = parseArgs({
  options: { schedules: text('2000'), seed: text(String(Date.now() % 1e9)), path: text('') },
});

const { status } = spawnSync(process.execPath, [require.resolve('jest/bin/jest'), 'test/model.spec.ts'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    MODEL_SCHEDULES: values.schedules,
    MODEL_SEED: values.seed,
    ...(values.path && { MODEL_PATH: values.path }),
  },
});
process.exitCode = status ?? 1;
