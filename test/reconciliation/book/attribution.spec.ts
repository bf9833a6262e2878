import { describeAttribution } from './describe-attribution';

describeAttribution({ runs: 3, seed: Number(process.env.ATTRIBUTION_SEED ?? 20_261_130) });
