import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './global.css';
import { Center, Loader, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { watchQueries } from './api/stale-queries';
import { ApiProblem, isOutage } from './api/problem';
import { SessionProvider } from './api/session';
import { App } from './app';
import { SignIn } from './pages/sign-in/sign-in';
import { Unreachable } from './pages/sign-in/unreachable';
import { contrasts, theme } from './theme';

/** The proxy says if a retry may help. Its rejections are final. */
const mayPass = (error: Error) => !(error instanceof ApiProblem) || isOutage(error);

/** Data that is shown and could not be confirmed is requested again. */
const AGAIN_MS = 10_000;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < 2 && mayPass(error),
      refetchInterval: ({ state }) => (state.data !== undefined && isOutage(state.error) ? AGAIN_MS : false),
    },
    mutations: { retry: false }, // A person decides whether to repeat an action.
  },
});

watchQueries(queries);

/** The nonce of the page's policy. Styles that the component library writes at run time need it. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
Object.assign(globalThis, { __webpack_nonce__: nonce }); // The scroll lock of its dialogs reads it there.

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
