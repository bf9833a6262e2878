import { describeAttribution } from './describe-attribution';

describeAttribution({ runs: 5, seed: Number(process.env.ATTRIBUTION_SEED ?? 20_261_130) });
