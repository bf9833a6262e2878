import { Alert, Box, Text } from '@mantine/core';
import { Unplug } from 'lucide-react';
import type { ReactNode } from 'react';
import { useOutdated } from '../../api/outdated';
import { Instant } from '../values/values';

/** Removes the colours from outdated data, and says since when it is outdated. Nothing outdated is green. */
export function UpToDate({ children }: { children: ReactNode }) {
  const outdated = useOutdated();
  return (
    <>
      <div role="status">
        {outdated && (
          <Alert color="gray" variant="light" p="xs" mb="md" icon={<Unplug size={18} aria-hidden />}>
            <Text size="sm">
              <b>Not up to date.</b> The proxy or its database cannot be reached.{' '}
              {outdated.since !== undefined && (
                <>
                  Last updated <Instant at={new Date(outdated.since).toISOString()} />.{' '}
                </>
              )}
              Retrying.
            </Text>
          </Alert>
        )}
      </div>
      <Box className={outdated ? 'outdated' : undefined}>{children}</Box>
    </>
  );
}
