import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './global.css';
import { Center, Loader, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { ApiProblem, isOutage } from './api/problem';
import { SessionProvider } from './api/session';
import { watchQueries } from './api/stale-queries';
import { App } from './app';
import { SignIn } from './pages/sign-in/sign-in';
import { Unreachable } from './pages/sign-in/unreachable';
import { contrasts, theme } from './theme';

/** Returns whether a retry may help. The proxy's rejections are final. */
const mayRetry = (error: Error) => !(error instanceof ApiProblem) || isOutage(error);

/** Interval for refetching stale data. */
const REFETCH_STALE_MS = 10_000;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < 2 && mayRetry(error),
      refetchInterval: ({ state }) =>
        state.data !== undefined && isOutage(state.error) ? REFETCH_STALE_MS : false,
    },
    mutations: { retry: false }, // The user decides whether to repeat an action.
  },
});

watchQueries(queries);

/** Nonce of the page's Content-Security-Policy, for styles that the component library adds at run time. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
Object.assign(globalThis, { __webpack_nonce__: nonce }); // The library's scroll lock reads the nonce there.

const waiting = (
  <Center h="100vh">
    <Loader aria-label="Loading" />
  </Center>
);

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      cssVariablesResolver={contrasts}
      getStyleNonce={() => nonce}
    >
      <Notifications position="bottom-right" />
      <QueryClientProvider client={queries}>
        <Router base="/console">
          <SessionProvider signIn={SignIn} unreachable={Unreachable} loading={waiting}>
            <App />
          </SessionProvider>
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
