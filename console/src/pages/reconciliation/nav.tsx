import { Button, Group } from '@mantine/core';
import { Link, useLocation } from 'wouter';

const PLACES = [
  { path: '/reconciliation', title: 'Runs' },
  { path: '/reconciliation/findings', title: 'Findings' },
  { path: '/reconciliation/statements', title: 'Statements' },
];

/** Links to the pages of reconciliation. */
export function ReconciliationNav() {
  const [location] = useLocation();
  const isHere = (path: string) =>
    path === '/reconciliation'
      ? location === path || location.startsWith('/reconciliation/runs')
      : location.startsWith(path);
  return (
    <Group component="nav" aria-label="Reconciliation" gap={4}>
      {PLACES.map(({ path, title }) => (
        <Button
          key={path}
          component={Link}
          href={path}
          size="xs"
          variant={isHere(path) ? 'light' : 'subtle'}
          aria-current={location === path ? 'page' : isHere(path) || undefined}
        >
          {title}
        </Button>
      ))}
    </Group>
  );
}
