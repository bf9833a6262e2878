/// <reference types="jest" />

/** Asymmetric matchers accept any value, and prove nothing about it. @types/jest types them as `any`. */
declare namespace jest {
  interface Expect {
    any(constructor: unknown): unknown;
    anything(): unknown;
    arrayContaining(elements: readonly unknown[]): unknown;
    objectContaining(properties: object): unknown;
    stringContaining(text: string): unknown;
    stringMatching(pattern: string | RegExp): unknown;
    closeTo(value: number, digits?: number): unknown;
  }

  interface InverseAsymmetricMatchers {
    arrayContaining(elements: readonly unknown[]): unknown;
    objectContaining(properties: object): unknown;
    stringContaining(text: string): unknown;
    stringMatching(pattern: string | RegExp): unknown;
  }
}
