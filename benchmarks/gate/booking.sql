-- A group of hotels, with tables as an object mapper names them. No table declares a key; some rows are deleted only by a mark.
CREATE TABLE Countries (Code TEXT, Name TEXT);
CREATE TABLE Hotels (Id INTEGER, Name TEXT, City TEXT, CountryCode TEXT, Stars INTEGER, OpenedOn DATE);
CREATE TABLE RoomTypes (Id INTEGER, Code TEXT, Label TEXT, MaxOccupancy INTEGER);
CREATE TABLE Rooms (Id INTEGER, HotelId INTEGER, RoomTypeId INTEGER, RoomNumber TEXT, Floor INTEGER, IsOutOfService BOOLEAN);
CREATE TABLE LoyaltyTiers (Code TEXT, Label TEXT, DiscountPercent INTEGER);
CREATE TABLE Guests (Id INTEGER, FirstName TEXT, LastName TEXT, Email TEXT, CountryCode TEXT, BirthDate DATE, LoyaltyTierCode TEXT, CreatedAt TIMESTAMP, DeletedAt TIMESTAMP);
CREATE TABLE RatePlans (Id INTEGER, Code TEXT, Label TEXT, IsRefundable BOOLEAN, BreakfastIncluded BOOLEAN);
CREATE TABLE ReservationStatuses (Code TEXT, Label TEXT);
CREATE TABLE Reservations (Id INTEGER, GuestId INTEGER, HotelId INTEGER, RatePlanId INTEGER, StatusCode TEXT, Channel TEXT, BookedAt TIMESTAMP, CheckInDate DATE, CheckOutDate DATE, CancelledAt TIMESTAMP);
CREATE TABLE ReservationRooms (Id INTEGER, ReservationId INTEGER, RoomId INTEGER, Adults INTEGER, Children INTEGER, NightlyRate NUMERIC(8,2));
CREATE TABLE ExtraServices (Id INTEGER, Name TEXT, ListPrice NUMERIC(8,2));
CREATE TABLE ReservationServices (ReservationId INTEGER, ServiceId INTEGER, Quantity INTEGER, UnitPrice NUMERIC(8,2));
CREATE TABLE Payments (Id INTEGER, ReservationId INTEGER, Amount NUMERIC(10,2), Method TEXT, PaidAt TIMESTAMP, IsRefund BOOLEAN);
CREATE TABLE Reviews (Id INTEGER, ReservationId INTEGER, Rating INTEGER, Comment TEXT, SubmittedAt TIMESTAMP, IsDeleted BOOLEAN);
CREATE TABLE Employees (Id INTEGER, FirstName TEXT, LastName TEXT, HotelId INTEGER, JobTitle TEXT, ManagerId INTEGER, HiredOn DATE, TerminatedOn DATE);
