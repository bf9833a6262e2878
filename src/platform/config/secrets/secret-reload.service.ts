import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { faultOf, RunningConfig, SETTINGS } from '../config';
import { Secret } from './secret';
import { fileVariableOf, reasonOf, secretIn } from './secret-files';

const EVERY_MS = 1_000;

/** Watches the files of secrets, and reports new values. */
@Injectable()
export class SecretReloadService implements OnApplicationShutdown {
  private readonly logger = new Logger('Config');
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly listeners: ((name: string, secret: Secret) => void)[] = [];

  constructor(
    @Inject(SETTINGS) private readonly settings: Pick<RunningConfig, 'secretFiles' | 'production'>,
  ) {}

  /** Calls back with each replaced secret. */
  onReload(listener: (name: string, secret: Secret) => void): void {
    this.listeners.push(listener);
  }

  /**
   * Calls back with each new value of a secret's file. Ignores a secret without a file. Polls, because files
   * may be replaced through links, as in a Kubernetes volume.
   * @param current the value in use.
   */
  watch(name: string, current: Secret | undefined, onChange: (secret: Secret) => void): void {
    const file = this.settings.secretFiles.get(name);
    if (file === undefined) return;
    let known = current;
    let lastText: string | undefined;
    let complaint: string | undefined;
    const complain = (fault: string | undefined) => {
      if (fault !== undefined && fault !== complaint)
        this.logger.error({ name, fault }, 'secret not reloaded');
      complaint = fault;
    };
    const look = () => {
      const read = attempt(file);
      if ('fault' in read)
        return complain(`${fileVariableOf(name)} must name a file with the value (${read.fault})`);
      const { text } = read;
      const isStable = text === lastText; // the file may be incomplete
      lastText = text;
      if (known?.is(text)) return complain(undefined);
      if (!isStable) return undefined;
      const fault = faultOf(name, text, this.settings.production);
      complain(fault);
      if (fault !== undefined) return undefined;
      known = new Secret(text);
      onChange(known);
      for (const listener of this.listeners) listener(name, known);
      this.logger.log({ name }, 'secret reloaded from its file');
    };
    this.timers.push(setInterval(look, EVERY_MS).unref());
  }

  onApplicationShutdown(): void {
    for (const timer of this.timers) clearInterval(timer);
  }
}

function attempt(file: string): { text: string } | { fault: string } {
  try {
    return { text: secretIn(file) };
  } catch (error) {
    return { fault: reasonOf(error) };
  }
}
