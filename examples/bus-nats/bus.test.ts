import { testBusExample } from '../../test/support/bus-example.ts'

testBusExample('bus-nats')
