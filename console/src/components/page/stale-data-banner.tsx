import { Alert, Box, Text } from '@mantine/core';
import { Unplug } from 'lucide-react';
import type { ReactNode } from 'react';
import { useStaleData } from '../../api/stale-queries';
import { Instant } from '../values/values';

/** Warns about stale data and removes its colors, so that nothing stale looks green. */
export function StaleDataBanner({ children }: { children: ReactNode }) {
  const stale = useStaleData();
  return (
    <>
      <div role="status">
        {stale && (
          <Alert color="gray" variant="light" p="xs" mb="md" icon={<Unplug size={18} aria-hidden />}>
            <Text size="sm">
              <b>Not up to date.</b> The proxy or its database cannot be reached.{' '}
              {stale.since !== undefined && (
                <>
                  Last updated <Instant at={new Date(stale.since).toISOString()} />.{' '}
                </>
              )}
              Retrying.
            </Text>
          </Alert>
        )}
      </div>
      <Box className={stale ? 'stale' : undefined}>{children}</Box>
    </>
  );
}
