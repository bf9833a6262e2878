import { SignInConfig } from '../../platform/config/sign-in-config';
import { Report } from './dependencies';

/** Prints the steps of a start as they pass. */
export function stepPrinter(): Report {
  let last = performance.now();
  return (step, detail) => {
    const now = performance.now();
    process.stdout.write(`  ✓ ${step.padEnd(10)} ${detail} (${Math.round(now - last)} ms)\n`);
    last = now;
  };
}

type BannerSettings = Pick<SignInConfig, 'openIdProvider' | 'keySignIn'> & { dualControl: boolean };

/** Returns the banner with a newcomer's next steps. */
export function banner(
  url: string,
  metricsUrl: string,
  demoKeys: string | undefined,
  settings: BannerSettings,
): string {
  const lines = [
    '',
    `  payout-proxy is ready   ${url}`,
    `    console     ${url}/console${signInHint(demoKeys, settings)}`,
    `    interface   ${url}/api/v0.1`,
    `    docs        ${url}/docs`,
    `    metrics     ${metricsUrl}/metrics`,
    ...(settings.dualControl
      ? []
      : ['    control     one person may make every change (DUAL_CONTROL is off)']),
  ];
  if (demoKeys !== undefined) {
    lines.push(
      `    keys        ${demoKeys}`,
      '',
      '  Send a payout, then read its record:',
      '',
      `    key() { grep -o "pp_$1_[^\\"]*" '${demoKeys}'; }`,
      `    curl -s ${url}/api/v0.1/payouts/airtime -H "X-API-Key: $(key app)" -H 'Content-Type: ` +
        `application/json' \\`,
      `      -d '{"airtimes":[{"countryToSend":"Nigeria","phoneNumber":"+2348012345678","valueInUSD":1.5}]}'`,
      `    curl -s ${url}/v1/audit/calls -H "X-API-Key: $(key auditor)"`,
    );
  }
  return [...lines, '', '  Press Ctrl-C to stop.', '', ''].join('\n');
}

function signInHint(demoKeys: string | undefined, { openIdProvider, keySignIn }: BannerSettings): string {
  if (openIdProvider !== undefined && !keySignIn) return `   sign in at ${openIdProvider.issuer}`;
  return demoKeys === undefined ? '' : `   sign in with the key "admin" in ${demoKeys}`;
}
