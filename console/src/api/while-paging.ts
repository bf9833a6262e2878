/** The old page stays until the next one is loaded. Unmasked people do not stay when they are masked again. */
export const whilePaging = (reveal: boolean) =>
  reveal
    ? { gcTime: 0 }
    : {
        placeholderData: <Data>(
          before: Data | undefined,
          query: { queryKey: readonly unknown[] } | undefined,
        ) => (isMasked(query?.queryKey[2]) ? before : undefined),
      };

const isMasked = (asked: unknown) =>
  (asked as { headers?: Record<string, unknown> } | undefined)?.headers?.['X-People'] === 'masked';
