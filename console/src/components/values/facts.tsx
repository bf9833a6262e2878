import { Text } from '@mantine/core';
import { Fragment, type ReactNode } from 'react';

/** Lists names with their values. Undefined values are left out. */
export function Facts({ of }: { of: Record<string, ReactNode> }) {
  return (
    <dl className="facts">
      {Object.entries(of).map(
        ([name, value]) =>
          value !== undefined && (
            <Fragment key={name}>
              <Text component="dt" size="sm" c="dimmed">
                {name}
              </Text>
              <Text component="dd" size="sm" m={0} className="wrap-anywhere">
                {value}
              </Text>
            </Fragment>
          ),
      )}
    </dl>
  );
}
