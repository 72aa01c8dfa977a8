/** Express 5 and pg, nothing else. */
import { createPeer, serve } from './by-hand.ts'

serve(createPeer())
