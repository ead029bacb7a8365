import { testBusExample } from '../../test/support/bus-example.ts'
import { createBus } from './bus.ts'

testBusExample('bus-nats', createBus)
