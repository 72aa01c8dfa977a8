/** The return value of client methods: a promise of the response body that also gives access to the whole response. */
import { UnexpectedAnswerError } from './errors.ts'

/** A response body with the response that carried it. */
export interface Answer<Data> {
  readonly data: Data
  readonly response: Response
  readonly requestId: string | undefined
}

/** A call in progress. `await` returns the body; `withResponse()` also returns the status and headers. */
export class Call<Data> implements Promise<Data> {
  readonly [Symbol.toStringTag] = 'Call'
  readonly #answer: Promise<Answer<Data>>

  constructor(answer: Promise<Answer<Data>>) {
    this.#answer = answer
  }

  withResponse(): Promise<Answer<Data>> {
    return this.#answer
  }

  /** Returns the response itself, whose body can be read unless it is a stream. */
  async asResponse(): Promise<Response> {
    return (await this.#answer).response
  }

  // Derived on demand: a promise created earlier would reject unhandled for callers that use withResponse().
  // biome-ignore lint/suspicious/noThenProperty: a call is awaited like a promise
  then<Value = Data, Fallback = never>(
    onfulfilled?: ((data: Data) => Value | PromiseLike<Value>) | null,
    onrejected?: ((reason: unknown) => Fallback | PromiseLike<Fallback>) | null,
  ): Promise<Value | Fallback> {
    return this.#answer.then(({ data }) => data).then(onfulfilled, onrejected)
  }

  catch<Fallback = never>(
    onrejected?: ((reason: unknown) => Fallback | PromiseLike<Fallback>) | null,
  ): Promise<Data | Fallback> {
    return this.then(undefined, onrejected)
  }

  finally(onfinally?: (() => void) | null): Promise<Data> {
    return this.then().finally(onfinally)
  }
}

/**
 * A call whose response is a stream. `for await` iterates over its items as they arrive; `await` returns them as an iterable when
 * the response starts. To end the stream early, leave the loop or abort the signal of the call.
 */
export class StreamCall<Item> extends Call<AsyncIterable<Item>> implements AsyncIterable<Item> {
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    yield* await this
  }
}

/** Names of the list members and paging parameters on the wire. */
export interface PageWire {
  /** Member with the records of a page. */
  readonly items: string
  /** Member that is true if there are more pages. */
  readonly more: string
  /** Member with the cursor of the next page. */
  readonly next: string
  /** Query parameter with the cursor that a page starts after. */
  readonly after: string
  /** Query parameter with the cursor that a page ends before. */
  readonly before: string
}

/** Requests a page with the given query. */
export type AskPage<Page> = (query: Readonly<Record<string, unknown>>) => Promise<Answer<Page>>

/**
 * A call for one page of a list. `await` returns that page. `for await` iterates over all records from there to the end
 * of the list and requests further pages as needed. If the query has a cursor to page backward, the iteration goes
 * backward too, nearest record first.
 */
export class ListCall<Page, Item> extends Call<Page> implements AsyncIterable<Item> {
  readonly #ask: AskPage<Page>
  readonly #query: Readonly<Record<string, unknown>>
  readonly #wire: PageWire

  constructor(ask: AskPage<Page>, query: Readonly<Record<string, unknown>>, wire: PageWire) {
    super(ask(query))
    this.#ask = ask
    this.#query = query
    this.#wire = wire
  }

  /** Iterates over the pages, starting with the page of this call. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    const { after, before } = this.#wire
    let cursor = this.#query[before] ?? this.#query[after]
    for (let { data } = await this.withResponse(); ; ) {
      yield data
      const onward = cursorAfter(data, this.#wire)
      if (onward === undefined) return
      if (onward === cursor)
        throw new UnexpectedAnswerError(
          'The next cursor of the page equals the requested one, so the list would never end',
        )
      cursor = onward
      data = (await this.#ask(pageQuery(this.#query, this.#wire, cursor))).data
    }
  }

  /**
   * Reads the records that `for await` iterates over into an array.
   *
   * @param options `limit` is the maximum number of records, for lists that may not fit into memory. Default: all.
   */
  async toArray({ limit = Number.POSITIVE_INFINITY }: { readonly limit?: number } = {}): Promise<Item[]> {
    const records: Item[] = []
    if (limit > 0) for await (const record of this) if (records.push(record) >= limit) break
    return records
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    const { items, before } = this.#wire
    const backwards = this.#query[before] !== undefined
    for await (const page of this.pages()) {
      const records = read(page, items)
      if (!Array.isArray(records))
        throw new UnexpectedAnswerError(`The member \`${items}\` of the page is not a list`)
      yield* backwards ? records.toReversed() : records
    }
  }
}

/** Returns the cursor of the page that follows; undefined if the page is the last one. */
export function cursorAfter(page: unknown, { more, next }: PageWire): unknown {
  return read(page, more) === true ? (read(page, next) ?? undefined) : undefined
}

/** Returns the query of the page at a cursor, in the direction of the first query. */
export function pageQuery(
  first: Readonly<Record<string, unknown>>,
  { after, before }: PageWire,
  cursor: unknown,
): Readonly<Record<string, unknown>> {
  const { [after]: _from, [before]: back, ...filters } = first
  return { ...filters, [back === undefined ? after : before]: cursor }
}

function read(page: unknown, member: string): unknown {
  return typeof page === 'object' && page !== null ? (page as Record<string, unknown>)[member] : undefined
}
