import { fireAlerts } from './fire.ts'
import { OUTAGES } from './outages.ts'

// For minutes, and with the whole machine: `npm run test:alerts`.
fireAlerts(Object.keys(OUTAGES))
