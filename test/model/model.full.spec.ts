import { randomInt } from 'node:crypto';
import { describeModel } from './describe-model';
import { LANES } from './schedule';

/** Four waves. They differ in each local run. CI draws the same ones for the same commit (.ci/run). */
describeModel({ schedules: 4 * LANES, seed: Number(process.env.MODEL_SEED ?? randomInt(2 ** 31)) });
