import { describeOnEachEmptyDatabase } from '../support/databases.ts'
import { conformance } from './conformance.ts'

describeOnEachEmptyDatabase('a database', (openUrl, dialect) => conformance(openUrl, dialect))
