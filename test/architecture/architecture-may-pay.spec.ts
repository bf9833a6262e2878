import { sourceFiles } from '../support/examples/source';

describe('the architecture of payment checks', () => {
  it('decides only in gateway/may-pay whether this instance may pay', () => {
    const asking = /\.isRaised|[sS]torage\.obstacle|\.sendableInSeconds\(|readStops\(|stopFor\(|ACTIVE_STOPS/;
    const others = sourceFiles('src').filter(
      ({ path, text }) =>
        !path.endsWith('.spec.ts') && !path.startsWith('src/gateway/may-pay/') && asking.test(text),
    );
    expect(others.map(({ path }) => path).sort()).toEqual([
      'src/cli/database/recover.ts', // shows a stop
      'src/continuity/fence/fence.service.ts',
      // hands the circuit to the policy, because a held call needs none
      'src/gateway/forwarding/admission.service.ts',
      'src/gateway/preview/preview.service.ts', // the same
      'src/gateway/queue/queue-rules.ts', // asks for the stop again, in the transaction
      'src/http/health/readiness.service.ts', // shows what holds
      'src/journal/admission/admissions.ts', // asks for the stop again, in the transaction
      'src/journal/admission/state.ts',
      'src/journal/stops/stops.ts',
      'src/policy/decide.ts',
      'src/policy/limits/stops.ts',
    ]);
  });
});
