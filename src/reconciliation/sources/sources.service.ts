import { Injectable } from '@nestjs/common';

export interface Cause {
  causedBy: string | null;
  by: { clientId: string; keyId: string; actor: string | null } | null;
}
export interface ReadResult {
  readId: string;
  complete: boolean;
  failure: string | null;
  rows: number;
  kept: number;
  sha256: string | null;
  endedAt: Date;
}

/** Stands in for the sources until they are there. */
@Injectable()
export class SourcesService {
  transactions(
    _cause: Cause,
    _window: { from: Date; to: Date } | null,
    _onRows?: (rows: number) => void,
    _signal?: AbortSignal,
  ): Promise<ReadResult> {
    return Promise.reject(new Error('not there yet'));
  }
  issue(_cause: Cause, _issueId: string): Promise<ReadResult> {
    return Promise.reject(new Error('not there yet'));
  }
  transaction(_cause: Cause, _id: string): Promise<ReadResult> {
    return Promise.reject(new Error('not there yet'));
  }
  wallets(_cause: Cause): Promise<ReadResult> {
    return Promise.reject(new Error('not there yet'));
  }
}
