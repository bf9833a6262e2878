import { MetricsService } from './metrics.service';

describe('the metrics of two apps in one process', () => {
  it('include the process once, and the requests of each app', async () => {
    const [one, other] = [new MetricsService(), new MetricsService()];
    one.problems.inc({ code: 'unauthenticated' });
    const texts = [(await one.text()).body, (await other.text()).body];
    for (const text of texts) expect(text.match(/^process_cpu_seconds_total /gm)).toHaveLength(1);
    expect(texts.map((text) => text.includes('code="unauthenticated"'))).toEqual([true, false]);
  });
});
