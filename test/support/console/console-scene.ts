import { RunningConfig } from '../../../src/platform/config/config';
import { startProxyWithSandbox } from '../processes/proxy';
import { startBrowser } from './browser';
import { tabsOf } from './console';

/** Starts a proxy with a sandbox, and a browser for its console. */
export async function startConsoleScene(settings: Partial<RunningConfig> = {}) {
  const [proxy, own] = await Promise.all([startProxyWithSandbox(settings), startBrowser()]);
  await proxy.startWorker();
  return {
    proxy,
    browser: own.browser,
    visit: tabsOf(own.browser, proxy.url),
    close: async () => {
      await own.close();
      await proxy.close();
    },
  };
}

export type ConsoleScene = Awaited<ReturnType<typeof startConsoleScene>>;

let scene: Promise<ConsoleScene> | undefined;

/** Shared within a spec file, which closes it. */
export const consoleScene = () => (scene ??= startConsoleScene());
