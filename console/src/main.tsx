import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './global.css';
import { Center, Loader, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { watchQueries } from './api/outdated';
import { ApiProblem, isOutage } from './api/problem';
import { SessionProvider } from './api/session';
import { App } from './app';
import { SignIn } from './pages/sign-in/sign-in';
import { Unreachable } from './pages/sign-in/unreachable';
import { contrasts, theme } from './theme';

/** The proxy says so where asking again may help; its refusals stay refusals. */
const mayPass = (error: Error) => !(error instanceof ApiProblem) || isOutage(error);

/** What is shown already and could not be confirmed is asked for again by itself. */
const AGAIN_MS = 10_000;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (failures, error) => failures < 2 && mayPass(error),
      refetchInterval: ({ state }) => (state.data !== undefined && isOutage(state.error) ? AGAIN_MS : false),
    },
    mutations: { retry: false }, // a person decides whether something is done again
  },
});

watchQueries(queries);

/** Of the page's policy: styles that the component library writes while it runs need it. */
const nonce = document.querySelector<HTMLMetaElement>('meta[property=csp-nonce]')?.nonce ?? '';
Object.assign(globalThis, { __webpack_nonce__: nonce }); // where its dialogs' scroll lock looks for it

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
