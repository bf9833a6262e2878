import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import './global.css';
import { Center, Loader, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { ApiProblem } from './api/problem';
import { SessionProvider } from './api/session';
import { App } from './app';
import { SignIn } from './pages/sign-in/sign-in';
import { contrasts, theme } from './theme';

/** The proxy says so where asking again may help; its refusals stay refusals. */
const mayPass = (error: Error) => !(error instanceof ApiProblem) || (error.status ?? 503) >= 502;

const queries = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 5_000, retry: (failures, error) => failures < 2 && mayPass(error) },
    mutations: { retry: false }, // a person decides whether something is done again
  },
});

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
          <SessionProvider signIn={SignIn} loading={waiting}>
            <App />
          </SessionProvider>
        </Router>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
