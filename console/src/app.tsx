import {
  ActionIcon,
  AppShell,
  Burger,
  Group,
  NavLink,
  Text,
  VisuallyHidden,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { LogOut, Moon, Sun } from 'lucide-react';
import { Suspense } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { useSession } from './api/session';
import { DoubtedOperationsBanner } from './components/page/doubted-operations-banner';
import { Page } from './components/page/page';
import { PageBoundary } from './components/page/page-boundary';
import { StaleDataBanner } from './components/page/stale-data-banner';
import { Empty, Loading } from './components/page/states';
import { StopBanner } from './components/page/stop-banner';
import { NAV_ITEMS, ROUTES } from './navigation';

/** Shows the frame of all pages: the header, the navigation and the page itself. */
export function App() {
  const [opened, { toggle, close }] = useDisclosure();
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 210, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <a className="skip" href="#page">
        Skip to the page
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="xs" wrap="nowrap">
            <Burger
              opened={opened}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Menu"
              aria-expanded={opened}
            />
            <Text fw={700} component={Link} href="/" c="inherit" td="none">
              payout-proxy
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <ColorSchemeSwitch />
            <Account />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        <Navigation onGo={close} />
      </AppShell.Navbar>
      <AppShell.Main id="page">
        <StaleDataBanner>
          <StopBanner />
          <DoubtedOperationsBanner />
          <Pages />
        </StaleDataBanner>
      </AppShell.Main>
    </AppShell>
  );
}

function Navigation({ onGo }: { onGo: () => void }) {
  const { session, may } = useSession();
  const [location] = useLocation();
  return NAV_ITEMS.filter(
    ({ scopes, sandboxOnly }) => may(...scopes) && (!sandboxOnly || session.sandbox),
  ).map(({ path, title, icon: Icon }) => {
    const isHere = path === '/' ? location === '/' : location.startsWith(path);
    return (
      <NavLink
        key={path}
        component={Link}
        href={path}
        label={title}
        leftSection={<Icon size={16} aria-hidden />}
        active={isHere}
        aria-current={isHere ? 'page' : undefined}
        onClick={onGo}
      />
    );
  });
}

function Pages() {
  const { may } = useSession();
  const [location] = useLocation();
  const first = NAV_ITEMS.find(({ scopes }) => may(...scopes));
  if (!first) return <NothingToSee />;
  return (
    <PageBoundary key={location}>
      <Suspense fallback={<Loading lines={8} label="Loading page" />}>
        <Switch>
          {ROUTES.filter(({ scopes }) => may(...scopes)).map(({ path, page: PageOf }) => (
            <Route key={path} path={path} component={PageOf} />
          ))}
          {!may(...(NAV_ITEMS[0]?.scopes ?? [])) && (
            <Route path="/">
              <Redirect to={first.path} />
            </Route>
          )}
          <Route>
            <NotHere />
          </Route>
        </Switch>
      </Suspense>
    </PageBoundary>
  );
}

function NotHere() {
  return (
    <Page title="Not found">
      <Empty>This page does not exist, or your key does not have access to it.</Empty>
    </Page>
  );
}

function NothingToSee() {
  return (
    <Page title="Welcome">
      <Empty>
        Your key belongs to an app. It can pay, but it cannot see anything in the console. The console is for
        keys that can audit, reconcile, approve, or administer.
      </Empty>
    </Page>
  );
}

function ColorSchemeSwitch() {
  const { toggleColorScheme } = useMantineColorScheme();
  const isDark = useComputedColorScheme() === 'dark';
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      onClick={toggleColorScheme}
      aria-label="Switch between light and dark"
    >
      {isDark ? <Sun size={18} /> : <Moon size={18} />}
    </ActionIcon>
  );
}

/** Shows the signed-in person and a button to sign out. A menu would add a tenth to the first load. */
function Account() {
  const { session, signOut } = useSession();
  const name = session.person ?? session.client;
  return (
    <Group gap={6} wrap="nowrap">
      <Text
        size="sm"
        fw={600}
        truncate
        maw={140}
        title={`Key of the client ${session.client}. Scopes: ${session.scopes.join(', ')}`}
      >
        <VisuallyHidden>Signed in as </VisuallyHidden>
        {name}
      </Text>
      <ActionIcon
        variant="subtle"
        color="gray"
        onClick={() => void signOut()}
        aria-label="Sign out"
        title="Sign out"
      >
        <LogOut size={18} />
      </ActionIcon>
    </Group>
  );
}
