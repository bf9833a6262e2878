import { Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface Props {
  title: string;
  /** A short explanation. */
  lead?: ReactNode;
  actions?: ReactNode;
  children?: ReactNode;
}

/** Shows a part of a page with its own heading. */
export function Section({ title, lead, actions, children }: Props) {
  return (
    <Stack component="section" gap="xs" aria-label={title} miw={0}>
      <Group justify="space-between" gap="xs">
        <Title order={2} size="h4">
          {title}
        </Title>
        {actions !== undefined && <Group gap="xs">{actions}</Group>}
      </Group>
      {lead !== undefined && (
        <Text size="sm" c="dimmed" maw="80ch">
          {lead}
        </Text>
      )}
      {children}
    </Stack>
  );
}

/** Shows a section with a border. */
export function Card(props: Props) {
  return (
    <Paper withBorder p={{ base: 'sm', sm: 'md' }} miw={0}>
      <Section {...props} />
    </Paper>
  );
}
