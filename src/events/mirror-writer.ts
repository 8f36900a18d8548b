// The mirror of Postgres (mirror.ts) as the main thread sees it: where it stands, and the way to give it more.

import type { EventsTasks } from './messages.ts'
import type { MirrorCursor, Mirrored, MirrorPage } from './mirror-page.ts'
import type { Fields } from './pool.ts'

/** What the writer needs of the store's client. */
interface Store {
  write<K extends 'mirror' | 'tend_mirror'>(kind: K, task: Fields<K>): Promise<EventsTasks[K][1]>
  /** The write-ahead log has so many bytes now. */
  wrote(walBytes: number): void
}

export interface MirrorState extends Mirrored {
  /** Where the mirror stood at the last checkpoint of this run: it cannot fall back behind that. */
  readonly checkpointed: MirrorCursor | null
}

export class MirrorWriter {
  readonly #store: Store
  #mirrored: Mirrored | null = null
  #checkpointed: MirrorCursor | null = null
  readonly #openedListeners: (() => void)[] = []

  constructor(store: Store) {
    this.#store = store
  }

  /** Null before the store is open. */
  state(): MirrorState | null {
    return this.#mirrored && { ...this.#mirrored, checkpointed: this.#checkpointed }
  }

  /** Calls `listener` once the store is open. */
  onOpened(listener: () => void): void {
    this.#openedListeners.push(listener)
  }

  /**
   * Gives the mirror a page. Returns where the mirror stands then, which is not where the page leads to when the page
   * does not begin where it stood.
   * Errors: events_unavailable when it was not written and may be later.
   */
  apply(page: MirrorPage): Promise<Mirrored> {
    return this.#write('mirror', { page })
  }

  /** Lets the mirror do a part of the upkeep that is due. Errors: as `apply`. */
  tend(): Promise<Mirrored> {
    return this.#write('tend_mirror', {})
  }

  /** Tells where the mirror stood when the store was opened. */
  opened(mirrored: Mirrored): void {
    this.#mirrored = mirrored
    for (const listener of this.#openedListeners) listener()
  }

  /** Tells where it stood at a checkpoint. */
  checkpointed(cursor: MirrorCursor | null): void {
    this.#checkpointed = cursor
  }

  async #write<K extends 'mirror' | 'tend_mirror'>(kind: K, task: Fields<K>): Promise<Mirrored> {
    const { walBytes, cursor, isTendingDue } = await this.#store.write(kind, task)
    this.#mirrored = { cursor, isTendingDue }
    this.#store.wrote(walBytes)
    return this.#mirrored
  }
}
