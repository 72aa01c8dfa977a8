/** What a method of the client returns: a promise of the body, with the rest of the answer within reach. */
import { UnexpectedAnswerError } from './errors.ts'

/** A body together with the answer that carried it. */
export interface Answer<Data> {
  readonly data: Data
  /** Its body has been read already. */
  readonly response: Response
  readonly requestId: string | undefined
}

/** A call under way. `await` gives the body; `withResponse()` the status and headers too. */
export class Call<Data> implements Promise<Data> {
  readonly [Symbol.toStringTag] = 'Call'
  readonly #answer: Promise<Answer<Data>>

  constructor(answer: Promise<Answer<Data>>) {
    this.#answer = answer
  }

  withResponse(): Promise<Answer<Data>> {
    return this.#answer
  }

  // Derived on demand: a promise made beforehand would reject unhandled for those who use withResponse().
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

/** How a list says what it holds and how it goes on: names of members and parameters on the wire. */
export interface PageWire {
  readonly items: string
  readonly more: string
  readonly next: string
  readonly after: string
  readonly before: string
}

/** Asks for a page by its query. */
export type AskPage<Page> = (query: Readonly<Record<string, unknown>>) => Promise<Answer<Page>>

/**
 * A call for one page of a list. `await` gives that page; `for await` walks every record from its start
 * to the end of the list, asking for further pages when they are needed. A walk that began with a cursor
 * to go back from goes back, the nearest record first.
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

  /** Page by page, this call's own first. */
  async *pages(): AsyncGenerator<Page, void, undefined> {
    const { more, next, after, before } = this.#wire
    const { [after]: _from, [before]: back, ...filters } = this.#query
    const direction = back === undefined ? after : before
    let cursor: unknown = this.#query[direction]
    for (let { data } = await this.withResponse(); ; ) {
      yield data
      const onward = read(data, next)
      if (read(data, more) !== true || onward === null || onward === undefined) return
      if (onward === cursor)
        throw new UnexpectedAnswerError('The list answers with the cursor it was asked for')
      cursor = onward
      data = (await this.#ask({ ...filters, [direction]: cursor })).data
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    const { items, before } = this.#wire
    const backwards = this.#query[before] !== undefined
    for await (const page of this.pages()) {
      const records = read(page, items)
      if (!Array.isArray(records)) throw new UnexpectedAnswerError(`The page has no list in \`${items}\``)
      yield* backwards ? records.toReversed() : records
    }
  }
}

function read(page: unknown, member: string): unknown {
  return typeof page === 'object' && page !== null ? (page as Record<string, unknown>)[member] : undefined
}
