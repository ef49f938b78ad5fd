// The HTTP status with which this document came; 0 where there is none.
() => performance.getEntriesByType('navigation')[0]?.responseStatus ?? 0
