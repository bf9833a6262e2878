import { PayoutProxy } from '../../../packages/sdk/src/index.ts';
import { first } from '../examples/first';
import { startProxyWithSandbox } from '../processes/proxy';
import { askSandbox } from './sandbox-answers';

const CONTROL = { 'X-Sandbox-Control-Key': 'sandbox-control' };
const RETRIES = { most: 4, firstMs: 5, longestMs: 3_000 };

type AirtimeBody = Parameters<PayoutProxy['payouts']['airtime']>[0] & { airtimes: { phoneNumber: string }[] };

/** An app with the SDK, a proxy and its sandbox. */
export type SdkApp = Awaited<ReturnType<typeof startSdkApp>>;

/** Starts a proxy with a sandbox, and an app that pays by the SDK. */
export async function startSdkApp() {
  const proxy = await startProxyWithSandbox({
    upstreamTimeoutMs: 5_000,
    dualControl: false,
    duplicateGuard: true,
    resolverEverySeconds: 1,
    resolverRejectedQuietSeconds: 1,
  });
  await proxy.startWorker(); // verifies rejections
  const { key } = await proxy.client('app', 'pay', 'write', 'read');
  let count = 0;
  const clientWith = (options: Partial<ConstructorParameters<typeof PayoutProxy>[0]> = {}) =>
    new PayoutProxy({ baseUrl: proxy.url, apiKey: key, retries: RETRIES, ...options });
  const client = clientWith();
  /** Returns the body of an airtime payout, by default to a new phone number. */
  const bodyOf = (phoneNumber = `+2547${String(20_000_000 + (count += 1))}`, valueInUSD = '0.01') => ({
    airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD }],
  });
  const airtime = (body: AirtimeBody = bodyOf(), by = client) => by.payouts.airtime(body);
  await airtime().settled(); // caches the list of countries
  return {
    proxy,
    client,
    clientWith,
    bodyOf,
    airtime,
    /** Requests a fault for the next airtime payout. */
    fault: (fault: object) =>
      askSandbox(proxy.sandbox.url)
        .post('/_sandbox/faults')
        .set(CONTROL)
        .send({ operation: 'POST /payouts/airtime', nth: 1, ...fault }),
    removeFault: (id: number) =>
      askSandbox(proxy.sandbox.url).delete(`/_sandbox/faults/${id}`).set(CONTROL).expect(204),
    /** Returns the requests of a body in the sandbox's records. */
    arrivals: async ({ airtimes }: AirtimeBody) => {
      const { phoneNumber } = first(airtimes);
      const { body } = await askSandbox(proxy.sandbox.url).get('/_sandbox/requests').set(CONTROL).expect(200);
      return body.filter((arrival) => JSON.stringify(arrival.body).includes(phoneNumber));
    },
  };
}
