/** The base class of resources, which group the methods of a client. */
import type { ServiceConnection } from './connect.ts'

export abstract class Resource {
  /** @internal */
  protected readonly connection: ServiceConnection

  constructor(connection: ServiceConnection) {
    this.connection = connection
  }
}
