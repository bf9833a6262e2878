import { describeModel } from './describe-model';
import { LANES } from './schedule';

/** One wave, or the settings of `npm run test:model`. */
describeModel({
  schedules: Number(process.env.MODEL_SCHEDULES ?? LANES),
  seed: Number(process.env.MODEL_SEED ?? 20_261_121),
  path: process.env.MODEL_PATH,
});
