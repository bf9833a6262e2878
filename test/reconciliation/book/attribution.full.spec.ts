import { randomInt } from 'node:crypto';
import { runs } from '../../support/examples/runs';
import { describeAttribution } from './describe-attribution';

describeAttribution({
  runs: runs(8),
  seed: Number(process.env.ATTRIBUTION_SEED ?? process.env.MODEL_SEED ?? randomInt(2 ** 31)),
});
