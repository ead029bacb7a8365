import { describeOnEachDatabase } from '../support/databases.ts'
import { conformance } from './conformance.ts'

describeOnEachDatabase('a database', (openUrl, dialect) => conformance(openUrl, dialect))
