import {
  createTheme,
  type CSSVariablesResolver,
  darken,
  type MantineColorsTuple,
  Notification,
} from '@mantine/core';

/** Ink blue, reserved for elements that can be clicked. */
const ink: MantineColorsTuple = [
  '#eef3fb',
  '#dbe4f3',
  '#b4c7e6',
  '#8aa8da',
  '#678dcf',
  '#517dc9',
  '#4474c7',
  '#3563b0',
  '#2c589e',
  '#1d4c8c',
];

export const theme = createTheme({
  colors: { ink },
  primaryColor: 'ink',
  primaryShade: { light: 8, dark: 6 },
  autoContrast: true,
  luminanceThreshold: 0.35,
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Mono", "Noto Sans Mono", monospace',
  defaultRadius: 'sm',
  cursorType: 'pointer',
  respectReducedMotion: true,
  headings: { fontWeight: '650' },
  components: {
    Notification: Notification.extend({ defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } }),
  },
});

/** Raises the contrast of secondary text, errors and words on pale colors to 4.5 to 1 (WCAG 2.1, 1.4.3). */
export const contrasts: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': '#5a6168',
    '--mantine-color-placeholder': '#6b7278',
    '--mantine-color-error': '#c92a2a',
    ...Object.fromEntries(
      Object.entries(colors).map(([name, shades]) => [
        `--mantine-color-${name}-light-color`,
        darken(shades[9], 0.25),
      ]),
    ),
  },
  dark: {
    '--mantine-color-dimmed': '#a9adb2',
    '--mantine-color-placeholder': '#9a9fa5',
    '--mantine-color-error': '#ff8787',
  },
});
