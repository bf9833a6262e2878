import { Paper, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A part of the page, under a heading of its own. */
export function Card({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <Paper withBorder p="md" component="section" aria-label={title} miw={0}>
      <Stack gap="sm">
        <div
          style={{ display: 'flex', flexWrap: 'wrap', gap: 8, justifyContent: 'space-between', alignItems: 'center' }}
        >
          <Title order={2} size="h5">
            {title}
          </Title>
          {actions}
        </div>
        {children}
      </Stack>
    </Paper>
  );
}
