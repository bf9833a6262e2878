import { Button, Center, Paper, Stack, Text, Title } from '@mantine/core';
import { useEffect } from 'react';
import type { UnreachableProps } from '../../api/session';

/** Shown while the session cannot be read. It disappears by itself. */
export function Unreachable({ retry }: UnreachableProps) {
  useEffect(() => {
    document.title = 'Cannot be reached · payout-proxy';
  }, []);
  return (
    <Center mih="100vh" p="md" component="main">
      <Paper withBorder p={{ base: 'md', xs: 'xl' }} w="100%" maw={420}>
        <Stack align="flex-start">
          <Title order={1} size="h2">
            Cannot be reached
          </Title>
          <div role="status">
            <Text>The proxy or its database cannot be reached. The console retries every few seconds.</Text>
          </div>
          <Text size="sm">You are still signed in. This page opens when the proxy responds.</Text>
          <Button variant="default" onClick={retry}>
            Retry now
          </Button>
        </Stack>
      </Paper>
    </Center>
  );
}
